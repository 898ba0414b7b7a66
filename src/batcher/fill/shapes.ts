/** The templates of event shapes, and the digests of everything that shapes events: an event is the same only where its digest is. */
import { hash } from 'node:crypto';
import type { Block, EventShape } from '../../core/block.ts';
import { SHAPING_VERSION } from '../limits.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Kernel, Template } from '../../kernel/kernel.ts';
import { ONCE } from '../span.ts';

interface CompiledShape {
  readonly template: Template;
  readonly digest: string;
  /** The shaper's own digest. */
  readonly shaper: string | undefined;
}

export class Shapes {
  readonly #kernel: Kernel;
  readonly #form: string;
  readonly #timestampField: string | undefined;
  readonly #compiled = new WeakMap<EventShape, CompiledShape>();

  /** `form` names the form in which events are sent. */
  constructor(kernel: Kernel, form: string, timestampField: string | undefined) {
    this.#kernel = kernel;
    this.#form = form;
    this.#timestampField = timestampField;
  }

  compile(shape: EventShape, shaper?: Shaper): CompiledShape {
    let compiled = this.#compiled.get(shape);
    // A reload may have changed what shapes the events.
    if (!compiled || compiled.shaper !== shaper?.digest) {
      const shaped = [
        SHAPING_VERSION,
        this.#form,
        shape,
        this.#timestampField ?? null,
        ...(shaper ? [shaper.digest] : []),
      ];
      const digest = hash('sha256', JSON.stringify(shaped)).slice(0, 16);
      compiled = {
        template: this.#kernel.compile(shape, this.#timestampField),
        digest: shaper?.isDeterministic === false ? digest + ONCE : digest,
        shaper: shaper?.digest,
      };
      this.#compiled.set(shape, compiled);
    }
    return compiled;
  }

  /**
   * The digest for a block's events, or those in `[from, to)` of its window. The bytes of a span do not tell where a line over the limit is
   * cut, the number of a part, which of several events of the same bytes it is, or a header above them, so the digest does.
   */
  digestOf({ shape, single, start, end, header }: Block, from = start, to = end, shaper?: Shaper): string {
    const { digest } = this.compile(shape, shaper);
    const cut = single?.marks ? `.${JSON.stringify(single.marks['part'] ?? 'cut')}.${end - start}` : '';
    const some = single && to - from < end - start ? `.${from - start}-${to - start}` : '';
    const under = header === undefined ? '' : `.h${hash('sha256', header).slice(0, 16)}`;
    return `${digest}${under}${cut}${some}`;
  }
}
