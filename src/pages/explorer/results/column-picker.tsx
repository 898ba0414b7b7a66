/** Which columns the table has, as boxes to tick: those that it has first, the others found by a part of their name. */
import { useState } from 'preact/hooks';
import { Menu } from '../../parts/menu.tsx';
import { formatCell } from '../../parts/show-text.ts';
import { useNameSearch } from '../../parts/name-search.tsx';

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
  // A box stays where it is while it is ticked and unticked.
  const [first] = useState(shown);
  const ordered = [...first.filter((name) => names.includes(name)), ...names.filter((name) => !first.includes(name))];
  const search = useNameSearch('column', ordered, (name) => name, MOST_BOXES);
  return (
    <>
      {names.length > FEW_NAMES && search.field}
      {search.found.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={shown.includes(name)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...shown, name] : shown.filter((other) => other !== name))
            }
          />
          <bdi>{formatCell(name, 100)}</bdi>
        </label>
      ))}
      {search.others}
    </>
  );
}
