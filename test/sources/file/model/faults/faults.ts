/** The faults that the model test must find. */
import { contentFaults } from './content.ts';
import type { Fault } from './fault.ts';
import { followingFaults } from './following.ts';
import { keepingFaults } from './keeping.ts';
import { linkFaults } from './links.ts';

export const faults: readonly Fault[] = [...contentFaults, ...followingFaults, ...keepingFaults, ...linkFaults];
