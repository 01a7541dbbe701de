/** In addition to those of a category: characters that a final sigma ignores (Unicode, Case_Ignorable). */
export const ignoredMarks =
  "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";

const marks = [...ignoredMarks].map((mark) => `\\x{${mark.charCodeAt(0).toString(16)}}`).join('');
const casedSymbols = '\\x{aa}\\x{ba}\\x{2160}-\\x{217f}\\x{24b6}-\\x{24e9}';
const squaredLetters = '\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}';

/** Character classes of PCRE and Java that decide about a final sigma: letters with case, and what is ignored. */
export const sigmaClasses = {
  cased: `[\\p{Lu}\\p{Ll}\\p{Lt}${casedSymbols}${squaredLetters}]`,
  ignored: `[\\p{Mn}\\p{Me}\\p{Cf}\\p{Lm}\\p{Sk}${marks}]`,
};

/** The letters that a change of case makes one other, and several, by the Unicode version of this process. */
export function caseTable(change: 'toUpperCase' | 'toLowerCase') {
  const single: (readonly [from: number, to: number])[] = [];
  const several: (readonly [from: string, to: string])[] = [];
  for (let code = 0; code < 0x20000; code++) {
    const letter = String.fromCodePoint(code);
    const other = letter[change]();
    if (other === letter) continue;
    if ([...other].length === 1) single.push([code, other.codePointAt(0) ?? 0]);
    else several.push([letter, other]);
  }
  return { single, several };
}
