/** `tailrace serve` in a process of its own, for tests: arguments as JSON in argv[2]. */
import { serve, type ServeArgs } from '../../src/cli/serve/serve.ts';

process.exitCode = await serve(JSON.parse(process.argv[2]!) as ServeArgs);
