/** Names the zone of every time on the page, and changes it. */
import { useState } from 'preact/hooks';
import { currentZone, keepZone, type ShownZone, zoneName } from './zone.ts';

/** What shows times is drawn below the component that has this. */
export function useZone() {
  const [zone, setZone] = useState(currentZone);
  return {
    zone,
    choose: (next: ShownZone) => {
      keepZone(next);
      setZone(next);
    },
  };
}

export function ZonePicker({ zone, choose }: ReturnType<typeof useZone>) {
  const own = zoneName('local');
  return (
    <>
      <label for="zone" class="visually-hidden">
        Time zone
      </label>
      <select
        id="zone"
        title="The zone of all times on this page"
        value={zone}
        onChange={({ currentTarget }) => choose(currentTarget.value as ShownZone)}
      >
        {own !== 'UTC' && <option value="local">{own}</option>}
        <option value={own === 'UTC' ? zone : 'UTC'}>UTC</option>
      </select>
    </>
  );
}
