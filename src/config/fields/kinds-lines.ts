/** Values that say how lines become events: charsets, regular expressions, delimiters. */
import { messageOf } from '../../core/errors.ts';
import { CHARSETS, findCharset } from './charsets.ts';
import type { FieldKind } from './field.ts';
import { text } from './kinds.ts';
import { suggestKey } from '../nearest.ts';
import { PRESET_NAMES } from '../presets/preset.ts';

/** One that is not known was reported before its source was read (config/presets/preset). */
export const presetName: FieldKind<string> = {
  ...text({ type: 'name of a preset: docs/formats.md', parse: (value) => ({ value }) }),
  schema: { anyOf: [{ enum: [...PRESET_NAMES] }, { type: 'string' }] },
};

/** One of config/fields/charsets, in any spelling. */
export const charset: FieldKind<string> = text({
  type: 'name of a charset: `utf-8`, `utf-16le`, `utf-16be`, `latin1`, `iso-8859-2` …, `windows-1250` …, `cp437` …, `koi8-r`, `big5`, `gbk`, `gb18030`, `shift_jis`, `euc-jp`, `euc-kr`',
  parse: parseCharset,
});

/** The charset of messages, which a newline or a NUL byte may end. */
export const messageCharset: FieldKind<string> = text({
  type: 'name of a charset as for files, but `utf-16le` and `utf-16be`',
  parse: (value) =>
    findCharset(value)?.startsWith('utf-16') === true
      ? {
          message: 'has newlines and NUL inside of characters',
          fix: 'name the charset that senders write; no sender of syslog writes UTF-16',
        }
      : parseCharset(value),
});

function parseCharset(value: string): ReturnType<Parameters<typeof text<string>>[0]['parse']> {
  const known = findCharset(value);
  if (known !== undefined) return { value: known };
  return { message: 'is no charset that is known', fix: suggestKey(value.toLowerCase(), CHARSETS, 'use one of') };
}

/** A regular expression of bounded cost. What only RE2 refuses is found when the agent starts. */
export const pattern: FieldKind<string> = text({
  type: 'regular expression',
  parse: (value) => {
    if (/\(\?(?:[=!]|<[=!])/.test(value)) {
      return {
        message: 'looks ahead or behind',
        fix: 'write it without `(?=`, `(?!`, `(?<=` and `(?<!`: its cost could not be bounded',
      };
    }
    if (/(?:^|[^\\])(?:\\\\)*\\(?:[1-9]|k<)/.test(value)) {
      return {
        message: 'refers back to a group',
        fix: 'write it without `\\1` and `\\k<name>`: its cost could not be bounded',
      };
    }
    try {
      // Flags in front are RE2's.
      void new RegExp(value.replace(/^\(\?[imsU]+\)/, ''));
      return { value };
    } catch (error) {
      return {
        message: `is no regular expression (${messageOf(error).replace(/^Invalid regular expression: .*\/\w*: /s, '')})`,
        fix: 'put it in single quotes, and escape what is meant literally',
      };
    }
  },
});

/** Separates the values of a CSV record; `tab` for a tab, which YAML writes as "\t". */
export const delimiter: FieldKind<string> = {
  type: 'one ASCII character, or `tab`',
  schema: { type: 'string' },
  read: (node, key, reading) =>
    node.kind === 'scalar' && node.value === '\t' ? '\t' : delimiterText.read(node, key, reading),
};
const delimiterText: FieldKind<string> = text({
  type: 'one ASCII character, or `tab`',
  parse: (value) => {
    if (value === 'tab' || value === '\\t') return { value: '\t' };
    return /^[!#-~]$/.test(value)
      ? { value }
      : { message: 'is not one character', fix: 'write one character, such as `,` or `;`, or `tab`' };
  },
});
