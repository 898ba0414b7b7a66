/** Owners of the low-water marks that a source's events move: its sinks, or their datasets where `to_dataset` routes events. */
import { hash } from 'node:crypto';
import type { Config } from '../../config/model.ts';
import type { TransformConfig } from '../../config/values.ts';
import type { SourceConfig } from '../../sources/registry.ts';
import { routedOwner } from '../../core/checkpoint-owner.ts';
import { readScript } from '../../shaping/script/script-file.ts';

const ROUTES = /\bto_dataset\s*\(/;
const VARIABLES = /\benv\s*\(\s*["']([^"']*)["']\s*\)/g;
const RULES_LENGTH = 12;

/** For each sink of the source, the owner of the marks of the sink's own dataset. */
export function ownersOf(config: Config, source: string): string[] {
  const sinks = config.sinks.filter(({ inputs }) => inputs.includes(source));
  const found = config.sources.find(({ id }) => id === source);
  return sinks.map((sink) => (found && routedBaseOf(config, found, sink)) ?? sink.id);
}

/** Whether a pipeline says with `to_dataset` where events go. */
export function routesEvents({ sources, transform }: Config): boolean {
  return [...sources.map((source) => source.transform), transform].some(
    (each) => each?.kind === 'pipeline' && ROUTES.test(each.text),
  );
}

/** The owner of the marks of the sink's own dataset, where the source's events may go to several; else undefined. */
export function routedBaseOf(
  config: Config,
  source: SourceConfig,
  sink: { readonly id: string; readonly dataset: string },
): string | undefined {
  const texts = [source.transform, config.transform].map((each) => (each?.kind === 'pipeline' ? each.text : ''));
  if (!texts.some((text) => ROUTES.test(text))) return undefined;
  // Environment variables and scripts decide, too, and are not in the text.
  const variables = texts.flatMap((text) =>
    Array.from(text.matchAll(VARIABLES), ([, name]) => process.env[name!] ?? null),
  );
  const scripts = [source.transform, config.transform].map((each) => (each?.kind === 'script' ? contentOf(each) : ''));
  const rules = JSON.stringify([texts, variables, scripts, source.dataset ?? sink.dataset]);
  return routedOwner(sink.id, hash('sha256', rules).slice(0, RULES_LENGTH));
}

/** Caches scripts until the configuration is reloaded. */
const contents = new WeakMap<TransformConfig, string>();

/** The script's checksum, or its path where it cannot be read. */
function contentOf(script: TransformConfig & { readonly kind: 'script' }): string {
  let content = contents.get(script);
  if (content === undefined) {
    try {
      content = readScript(script.file).sha256;
    } catch {
      content = script.file;
    }
    contents.set(script, content);
  }
  return content;
}
