/** Request bodies as they were before `Content-Encoding`, bounded: decompression stops at the limit, so a bomb costs no more than that. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { codeOf, messageOf } from '../../core/errors.ts';
import { ApiError, badRequest, quote } from '../http/api-error.ts';

const DECODERS: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number; chunkSize: number }) => Promise<Buffer>>> = {
  gzip: promisify(zlib.gunzip),
  'x-gzip': promisify(zlib.gunzip),
  zstd: promisify(zlib.zstdDecompress),
  deflate: promisify(zlib.inflate),
  br: promisify(zlib.brotliDecompress),
};

/** Throws an `ApiError`: 413 over `limit` bytes, 400 for a body that is not of its encoding, 415 for an unknown one. */
export async function decompress(body: Buffer, encoding: string | undefined, limit: number): Promise<Buffer> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity' || name === '1') {
    if (body.length > limit) throw tooLarge(limit);
    return body;
  }
  const decode = DECODERS[name];
  if (!decode) throw new ApiError(415, `Content-Encoding ${quote(name)}: wanted gzip, zstd, deflate, br or identity`);
  if (body.length === 0) throw badRequest(`the body is empty, which is no ${name}`);
  try {
    return await decode(body, { maxOutputLength: limit, chunkSize: 256 * 1024 });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw badRequest(`the body is not whole ${name}: ${messageOf(error)}`);
  }
}

export function tooLarge(limit: number): ApiError {
  return new ApiError(413, `the body is larger than ${limit} bytes (after decompression): send less in one request`);
}
