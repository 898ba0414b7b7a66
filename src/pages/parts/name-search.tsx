/** A field that finds items by a part of their names: the field, the first items found, and a line about the others. */
import { useState } from 'preact/hooks';
import { formatCount } from './format.ts';

export function useNameSearch<Item>(
  what: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
  most: number,
) {
  const [wanted, setWanted] = useState('');
  const matching = items.filter((item) => nameOf(item).toLowerCase().includes(wanted.toLowerCase()));
  const label = `Find a ${what}`;
  return {
    field: (
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
      />
    ),
    found: matching.slice(0, most),
    others: matching.length > most && (
      <p class="soft">{formatCount(matching.length - most)} more; type a part of the name.</p>
    ),
  };
}
