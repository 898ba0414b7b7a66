/** Ports of this machine that nothing listens on: they were free a moment ago. */
import { createServer, type AddressInfo } from 'node:net';

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}

/** Different ones. */
export async function freePorts(count: number): Promise<number[]> {
  const holders = await Promise.all(
    Array.from({ length: count }, async () => {
      const holder = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => holder.once('listening', resolve));
      return holder;
    }),
  );
  const ports = holders.map((holder) => (holder.address() as AddressInfo).port);
  await Promise.all(holders.map((holder) => new Promise((resolve) => holder.close(resolve))));
  return ports;
}
