/** Numbers and times as people read them; no unit is ever left out. */
import { stampOf } from './zone.ts';

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatCount(count: number): string {
  return grouped.format(count);
}

/** `1 event`, `2 events`. */
export function formatMany(count: number, word: string): string {
  return `${formatCount(count)} ${nameMany(count, word)}`;
}

export function nameMany(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}

/** Three digits at most: `0`, `0.4`, `12`, `3.4k`. */
export function formatShort(value: number): string {
  const step = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(value))) / 3)));
  return `${roundTo(value / 1000 ** step)}${['', 'k', 'M', 'G', 'T'][step]}`;
}

export function formatBytes(bytes: number): string {
  const step = Math.min(BYTE_UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${roundTo(bytes / 1024 ** step)} ${BYTE_UNITS[step]}`;
}

export function formatMs(ms: number): string {
  return ms < 1000 ? `${roundTo(ms)} ms` : `${roundTo(ms / 1000)} s`;
}

/** A length of time in its two largest units. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The time of day, with the day where it is not today's, in the page's zone. */
export function formatTime(ms: number): string {
  const [day, time = ''] = stampOf(ms).split(' ');
  return day === stampOf(Date.now()).slice(0, 10) ? time : `${day} ${time}`;
}

/** A time as JSON has it, with the decimals that it has, three at least; any other text as it is. */
export function formatExactTime(text: string): string {
  const ms = Date.parse(text);
  const decimals = /[.](\d+)/.exec(text)?.[1] ?? '';
  return Number.isNaN(ms) ? text : `${formatTime(ms)}.${decimals.padEnd(3, '0')}`;
}

function roundTo(value: number): string {
  if (value === 0) return '0';
  return Math.abs(value) < 10 ? String(Number(value.toFixed(1))) : String(Math.round(value));
}
