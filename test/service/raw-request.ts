/** A request with headers that fetch does not let a test set (Host, Via). */
import { request } from 'node:http';

export function ask(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { headers: { ...headers } }, (reply) => {
      let text = '';
      reply.on('data', (chunk: Buffer) => (text += chunk.toString()));
      reply.on('end', () => resolve({ status: reply.statusCode!, text }));
    });
    sent.on('error', reject).end();
  });
}
