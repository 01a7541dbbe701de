declare module 'parse-prometheus-text-format' {
  interface Family {
    readonly name: string;
    readonly metrics: readonly {
      readonly value?: string;
      readonly labels?: Record<string, string>;
    }[];
  }
  export default function parse(text: string): Family[];
}
