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
    // The focus is nowhere where the button that had it is disabled or gone.
    const leave = ({ key }: KeyboardEvent) => {
      const focused = document.activeElement;
      if (key !== 'Escape' || !(focused === document.body || holder.current?.contains(focused))) return;
      setOpen(false);
      holder.current?.querySelector('summary')?.focus();
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', leave);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', leave);
    };
  }, [isOpen]);
  return (
    <details ref={holder} class="picker" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{name}</summary>
      {isOpen && <div class={boxClass}>{children(() => setOpen(false))}</div>}
    </details>
  );
}
