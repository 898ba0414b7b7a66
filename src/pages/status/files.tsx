/** The files that sources follow, and why any path is or is not read. Asked for only when it is opened. */
import { useRef, useState } from 'preact/hooks';
import type { ListedSource } from '../../telemetry/status-page.ts';
import type { ListedFile } from '../../core/source.ts';
import { formatBytes, formatMany } from '../parts/format.ts';
import { Table } from './table.tsx';
import { getJson } from './use-agent.ts';

interface Explanation {
  readonly source: string;
  readonly isRead: boolean;
  readonly reason: string;
  readonly fix?: string;
  readonly lastError?: string;
}

type Listed = Omit<ListedSource, 'files'> & { readonly files: readonly ListedFile[] };

const COLUMNS = { file: '', state: '', 'read to': 'number', size: 'number', unread: 'number' } as const;

export function Files() {
  const [sources, setSources] = useState<readonly Listed[] | undefined>();
  const [explained, setExplained] = useState<
    { readonly path: string; readonly by: readonly Explanation[] } | undefined
  >();
  const asked = useRef<HTMLInputElement>(null);
  const load = () => getJson<Listed[]>('files.json').then(setSources, () => setSources(undefined));
  const explain = (path: string) =>
    getJson<Explanation[]>(`explain.json?path=${encodeURIComponent(path)}`).then(
      (by) => setExplained({ path, by }),
      () => {},
    );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void explain(asked.current!.value.trim());
  };
  return (
    <details onToggle={(event) => void (event.currentTarget.open && load())}>
      <summary class="surface">
        <h2>Files</h2> <span>which are followed, where reading stands, why one is not read</span>
      </summary>
      <form class="explain" onSubmit={submit}>
        <label for="path">Why is a file read, or not?</label>
        <input
          ref={asked}
          id="path"
          class="mono"
          placeholder="/var/log/app/server.log"
          spellcheck={false}
          autocomplete="off"
        />
        <button type="submit">Explain</button>
        <button type="button" class="quiet" onClick={() => void load()}>
          Refresh the list
        </button>
      </form>
      <div role="status">{explained && <Explained {...explained} />}</div>
      {sources?.map(({ source, total, files }) => (
        <Table
          key={source}
          label={`Files of source ${source}`}
          columns={COLUMNS}
          isTall
          caption={
            <caption>
              {source}: {formatMany(total, 'file')}
              {files.length < total ? `, the first ${files.length} of them; those in trouble or behind come first` : ''}
            </caption>
          }
        >
          {files.map((file) => (
            <tr key={`${file.path} ${file.state}`}>
              <th scope="row" class="mono long">
                <button type="button" class="link" onClick={() => void explain(file.path)}>
                  {file.path}
                </button>
                {file.problem !== undefined && <p class="reason">{file.problem}</p>}
              </th>
              <td class={file.problem === undefined ? '' : 'text-bad'}>{file.state}</td>
              <td class="number" title={formatMany(file.offset, 'byte')}>
                {formatBytes(file.offset)}
              </td>
              <td class="number" title={formatMany(file.size, 'byte')}>
                {formatBytes(file.size)}
              </td>
              <td class="number">{formatBytes(file.lagBytes)}</td>
            </tr>
          ))}
        </Table>
      ))}
    </details>
  );
}

function Explained({ path, by }: { readonly path: string; readonly by: readonly Explanation[] }) {
  return (
    <div class="explained">
      <p class="mono">{path}</p>
      {by.length === 0 && <p>No source reads files, or this is no absolute path.</p>}
      {by.map(({ source, isRead, reason, fix, lastError }) => (
        <p key={source}>
          <b class={isRead ? 'text-good' : 'text-warn'}>
            {source} {isRead ? 'reads it' : 'does not read it'}
          </b>
          : {reason}
          {lastError !== undefined && ` (${lastError})`}
          {fix !== undefined && <span class="fix"> {fix}</span>}
        </p>
      ))}
    </div>
  );
}
