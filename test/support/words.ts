/** The words of the text, each as it is written: a backslash is a backslash. */
export function words({ raw }: TemplateStringsArray): string[] {
  return raw[0]!.trim().split(/\s+/);
}
