/** The time range: a length up to now, or two times. Dragging over a chart gives the latter; `Wider` doubles it. */
import { useState } from 'preact/hooks';
import { currentZone, parseInZone, stampOf } from '../../parts/zone.ts';
import { absoluteRange, nameRange, RANGES } from '../data/link-state.ts';

export interface RangePickerProps {
  /** As the link has it. */
  readonly range: string;
  readonly onChange: (range: string) => void;
}

const CUSTOM = 'custom';

export function RangePicker({ range, onChange }: RangePickerProps) {
  const absolute = absoluteRange(range);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <label for="range" class="visually-hidden">
        Time range
      </label>
      <select
        id="range"
        value={range}
        onChange={(event) => {
          const { currentTarget } = event;
          setOpen(currentTarget.value === CUSTOM);
          if (currentTarget.value === CUSTOM) currentTarget.value = range;
          else onChange(currentTarget.value);
        }}
      >
        {Object.entries(RANGES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
        {absolute && <option value={range}>{nameRange(range)}</option>}
        <option value={CUSTOM}>From … to …</option>
      </select>
      {absolute && (
        <button type="button" class="quiet" onClick={() => onChange(widen(absolute))}>
          Wider
        </button>
      )}
      {isOpen && (
        <TwoTimes
          key={currentZone()}
          from={absolute?.[0] ?? Date.now() - 3_600_000}
          to={absolute?.[1] ?? Date.now()}
          onChange={(next) => {
            setOpen(false);
            onChange(next);
          }}
        />
      )}
    </>
  );
}

function widen([from, to]: readonly [from: number, to: number]): string {
  const half = Math.ceil((to - from) / 2);
  return `${Math.max(0, from - half)}/${to + half}`;
}

interface TwoTimesProps extends Pick<RangePickerProps, 'onChange'> {
  readonly from: number;
  readonly to: number;
}

function TwoTimes({ from, to, onChange }: TwoTimesProps) {
  const [times, setTimes] = useState([toInput(from), toInput(to)]);
  const [start, end] = times.map(parseInZone) as [number, number];
  const take = () => start < end && onChange(`${start}/${end}`);
  return (
    <span class="two-times" onKeyDown={(event) => event.key === 'Enter' && (event.preventDefault(), take())}>
      {['From', 'To'].map((name, at) => (
        <input
          key={name}
          type="datetime-local"
          step="1"
          aria-label={name}
          value={times[at]}
          onInput={(event) => setTimes(times.with(at, event.currentTarget.value))}
        />
      ))}
      <button type="button" disabled={!(start < end)} onClick={take}>
        Use these times
      </button>
    </span>
  );
}

/** As such an input wants it: a time without its zone. */
function toInput(ms: number): string {
  return stampOf(ms).replace(' ', 'T');
}
