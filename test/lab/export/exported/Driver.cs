using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

public static class Driver
{
    delegate string Rule(string method, string url, IEnumerable<KeyValuePair<string, string>> parameters, string body,
        string secret);

    static string Text(string field)
    {
        var text = new StringBuilder();
        for (var at = 0; at < field.Length; at += 4) text.Append((char)Convert.ToInt32(field.Substring(at, 4), 16));
        return text.ToString();
    }

    static string Units(string text)
    {
        return string.Concat(text.Select(unit => ((int)unit).ToString("x4")));
    }

    static List<KeyValuePair<string, string>> Pairs(string field)
    {
        return field.Split(',').Where(pair => pair != "").Select(pair => pair.Split('='))
            .Select(parts => new KeyValuePair<string, string>(Text(parts[0]), Text(parts[1]))).ToList();
    }

    public static void Main()
    {
        var rules = new Dictionary<string, Rule>();
        /* rules */
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            var fields = line.Split(' ');
            try
            {
                var done = rules[fields[0]](Text(fields[1]), Text(fields[2]), Pairs(fields[5]),
                    fields[3] == "-" ? null : Text(fields[3]), Text(fields[4]));
                Console.WriteLine(Units(done));
            }
            catch (ArgumentException e)
            {
                Console.WriteLine("!" + Units(e.Message));
            }
        }
    }
}
