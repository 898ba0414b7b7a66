/** A button that opens what it holds. Escape closes it and leads back to the button; a click elsewhere closes it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface MenuProps {
  readonly name: ComponentChildren;
  /** Of the box that opens. */
  readonly class: string;
  /** Called while it is open, so that its content is up to date. */
  readonly children: (close: () => void) => ComponentChildren;
}

export function Menu({ name, class: boxClass, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const holder = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = ({ target }: Event) => {
      if (!(target instanceof Node && holder.current?.contains(target))) setOpen(false);
    };
    document.addEventListener('pointerdown', close);
    return () => document.removeEventListener('pointerdown', close);
  }, [isOpen]);
  return (
    <details
      ref={holder}
      class="picker"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        setOpen(false);
        event.currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary>{name}</summary>
      {isOpen && <div class={boxClass}>{children(() => setOpen(false))}</div>}
    </details>
  );
}
