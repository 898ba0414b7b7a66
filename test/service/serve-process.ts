/** `tailrace serve` in a process of its own, for tests: arguments as JSON in argv[2]. */
import type { ArgumentsOf } from '../../src/cli/options/command-options.ts';
import { serve } from '../../src/cli/serve/serve.ts';

process.exitCode = await serve(JSON.parse(process.argv[2]!) as ArgumentsOf<'serve'>);
