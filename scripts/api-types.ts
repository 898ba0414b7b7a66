/** The types of clients, from the schemas of the endpoints that name them (src/service/api). */
import type { z } from 'zod';
import { ENDPOINT_GROUPS } from '../src/service/api/groups.ts';
import { CLIENT_TYPES } from '../src/service/http/client-types.ts';

const WIDTH = 120;
const HEAD = `/**
 * What the service takes and gives, as its HTTP API writes it. Values that other services may have more of are plain text there, and lists and
 * texts that they leave out are optional. Written by scripts/generate.ts from the schemas in src/service.
 */
`;

const named = Object.assign({}, ...ENDPOINT_GROUPS.map(({ types }) => types)) as Readonly<Record<string, z.ZodType>>;
const names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));

export function renderApiTypes(): string {
  const types = Object.entries(named).map(([name, schema]) => {
    const doc = schema.description === undefined ? '' : `/** ${schema.description} */\n`;
    const def = defOf(schema);
    if (def.type !== 'object') return `${doc}export type ${name} = ${typeOf(schema, '', true)};\n`;
    const [base, own] = baseOf(name, def);
    return `${doc}export interface ${name} ${base === undefined ? '' : `extends ${base} `}${objectOf(own, '', true)}\n`;
  });
  return [HEAD, ...types].join('\n');
}

/** A named type that this one has all members of, and the members beside it. */
function baseOf(name: string, def: z.core.$ZodObjectDef): readonly [string | undefined, z.core.$ZodObjectDef] {
  for (const [base, schema] of Object.entries(named)) {
    const known = defOf(schema);
    if (base === name || known.type !== 'object') continue;
    if (!Object.entries(known.shape).every(([key, member]) => def.shape[key] === member)) continue;
    return [
      base,
      { ...def, shape: Object.fromEntries(Object.entries(def.shape).filter(([key]) => !(key in known.shape))) },
    ];
  }
  return [undefined, def];
}

function typeOf(schema: z.core.$ZodType, indent: string, isRoot = false): string {
  const name = names.get(schema as z.ZodType);
  if (name !== undefined && !isRoot) return name;
  const { type, looser } = CLIENT_TYPES.get(schema as z.ZodType) ?? {};
  if (type !== undefined) return type;
  const def = defOf(schema);
  const inner = (of: z.core.$ZodType): string => typeOf(of, indent);
  switch (def.type) {
    case 'object':
      return objectOf(def, indent);
    case 'array':
      return `readonly ${bracketed(inner(def.element))}[]`;
    case 'record':
      return `Readonly<Record<string, ${inner(def.valueType)}>>`;
    case 'union':
      return def.options.map(inner).join(' | ');
    case 'enum':
      return looser ? 'string' : Object.values(def.entries).map(literal).join(' | ');
    case 'literal':
      return def.values.map(literal).join(' | ');
    case 'nullable':
      return `${inner(def.innerType)} | null`;
    case 'optional':
    case 'prefault':
      return inner(def.innerType);
    case 'pipe':
      return inner(def.in);
    case 'string':
    case 'number':
    case 'boolean':
    case 'unknown':
      return def.type;
    default:
      throw new Error(`scripts/api-types.ts knows no schema of type ${def.type}`);
  }
}

/** As many members on a line as it has room for; one with a comment has its own. */
function objectOf({ shape, catchall }: z.core.$ZodObjectDef, indent: string, isRoot = false): string {
  const members = Object.entries(shape).map(([key, schema]) => memberOf(key, schema, `${indent}  `));
  if (catchall && defOf(catchall).type === 'unknown') members.push('readonly [key: string]: unknown');
  const inline = `{ ${members.join('; ')} }`;
  if (!isRoot && !inline.includes('\n') && inline.length < WIDTH - 50) return inline;
  const lines: string[] = [];
  for (const member of members.map((text) => `${text};`)) {
    const last = lines.at(-1);
    if (last === undefined || /\n/.test(last + member) || indent.length + last.length + member.length + 3 > WIDTH)
      lines.push(member);
    else lines[lines.length - 1] = `${last} ${member}`;
  }
  return `{\n${lines.map((line) => `${indent}  ${line}\n`).join('')}${indent}}`;
}

function memberOf(key: string, member: z.core.$ZodType, indent: string): string {
  const schema = member as z.ZodType;
  const { looser } = CLIENT_TYPES.get(schema) ?? {};
  const { type } = defOf(schema);
  const orNull = looser && ['array', 'object', 'record'].includes(type) ? ' | null' : '';
  const isOptional = (looser && type !== 'enum') || schema._zod.optin !== undefined;
  const doc = schema.description === undefined || names.has(schema) ? '' : `/** ${schema.description} */\n${indent}`;
  return `${doc}readonly ${key}${isOptional ? '?' : ''}: ${typeOf(schema, indent)}${orNull}`;
}

const defOf = (schema: z.core.$ZodType) => (schema as z.core.$ZodTypes)._zod.def;
const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));
const bracketed = (type: string): string => (/ \| (?![^{]*\})|^readonly /.test(type) ? `(${type})` : type);
