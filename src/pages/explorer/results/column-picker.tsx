/** Which columns the table has, as boxes to tick: those that it has first, the others found by a part of their name. */
import { useState } from 'preact/hooks';
import { formatCount } from '../../parts/format.ts';
import { Menu } from '../../parts/menu.tsx';
import { formatCell } from '../../parts/show-text.ts';

/** More boxes than this would freeze the page. */
const MOST_BOXES = 200;
/** More names than this are searched. */
const FEW_NAMES = 12;

export interface ColumnPickerProps {
  readonly names: readonly string[];
  readonly shown: readonly string[];
  readonly onChange: (shown: readonly string[]) => void;
}

export function ColumnPicker({ names, shown, onChange }: ColumnPickerProps) {
  const label = (
    <>
      Columns <small>{shown.length}</small>
    </>
  );
  return (
    <Menu name={label} class="boxes">
      {() => <Boxes {...{ names, shown, onChange }} />}
    </Menu>
  );
}

function Boxes({ names, shown, onChange }: ColumnPickerProps) {
  const [wanted, setWanted] = useState('');
  // A box stays where it is while it is ticked and unticked.
  const [first] = useState(shown);
  const ordered = [...first.filter((name) => names.includes(name)), ...names.filter((name) => !first.includes(name))];
  const matching = ordered.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <>
      {names.length > FEW_NAMES && (
        <input
          type="search"
          aria-label="Find a column"
          placeholder="Find a column"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      {matching.slice(0, MOST_BOXES).map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={shown.includes(name)}
            onChange={(event) => onChange(event.currentTarget.checked ? [...shown, name] : shown.filter((other) => other !== name))}
          />
          <bdi>{formatCell(name, 100)}</bdi>
        </label>
      ))}
      {matching.length > MOST_BOXES && <p class="soft">{formatCount(matching.length - MOST_BOXES)} more; type a part of the name.</p>}
    </>
  );
}
