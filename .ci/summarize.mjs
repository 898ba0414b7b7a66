// Ends a run of .ci/run: reads what the checks printed and what the tests reported in a folder, names what is neither
// passed nor failed, and prints the two sums as the last line. Exits 1 if anything failed, was skipped, or nothing ran.
// Usage: summarize.mjs FOLDER STATUS-OF-CHECKS STATUS-OF-TESTS. Plain JavaScript, because it runs on Node 20.
import { existsSync, readFileSync } from 'node:fs';

const [folder, checkStatus, testStatus] = process.argv.slice(2);
const steps = readFileSync(`${folder}/check`, 'utf8').split('\n');
let passed = steps.filter((line) => line.startsWith('✓')).length;
let failed = steps.filter((line) => line.startsWith('✗')).length;
if (checkStatus !== '0' && failed === 0) failed++;
const failedChecks = failed;
if (existsSync(`${folder}/tests.json`)) {
  const report = JSON.parse(readFileSync(`${folder}/tests.json`, 'utf8'));
  for (const file of report.testResults) {
    // A file that could not be loaded has no tests of its own.
    if (file.assertionResults.length === 0) {
      console.log(`no test ran in ${file.name}`);
      failed++;
    }
    for (const test of file.assertionResults) {
      if (test.status === 'passed') passed++;
      else failed++;
      if (test.status !== 'passed' && test.status !== 'failed') console.log(`${test.status}: ${test.fullName}`);
    }
  }
}
// Trouble outside any test: an unhandled error, a run that never reported.
if (testStatus !== '0' && failed === failedChecks) failed++;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
