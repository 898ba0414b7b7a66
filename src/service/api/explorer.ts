/** The explorer at `/`: needs no token to be read, and shows nothing until it is given one. */
import type { FastifyReply } from 'fastify';
import { codeOf } from '../../core/errors.ts';
import { type PageFileKind, readPageFile } from '../../web/page-files.ts';
import { ApiError } from '../http/api-error.ts';
import { group } from './endpoint.ts';

export const explorer = group('', {}, (_endpoint, _parts: object, server) => {
  const serve = (path: string, kind: PageFileKind) =>
    server.get(path, { config: { public: true } }, (_request, reply: FastifyReply) => {
      const { headers, body } = read(kind);
      return reply.headers(headers).send(body);
    });
  serve('/', 'html');
  serve('/explorer-page.js', 'js');
  serve('/explorer-page.css', 'css');
});

function read(kind: PageFileKind) {
  try {
    return readPageFile('explorer-page', kind);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new ApiError(
      503,
      'this checkout holds no built page: npm run build writes it; every endpoint works without it',
    );
  }
}
