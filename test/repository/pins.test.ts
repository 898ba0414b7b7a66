import { expect, test } from 'vitest';
import { checkPins } from '../../scripts/check-pins.ts';
import { makeTree } from '../support/temp-tree.ts';

const digest = `@sha256:${'0a'.repeat(32)}`;
const commit = `@${'0a'.repeat(20)}`;

test.each<[name: string, file: string, text: string, wanted: string[]]>([
  [
    'a Dockerfile’s base',
    'Dockerfile',
    'FROM debian:12-slim\n',
    ['Dockerfile:1: the image debian:12-slim has no digest'],
  ],
  [
    'a base in small letters, for a platform',
    'Dockerfile',
    'from --platform=linux/amd64 a:1 as b\n',
    ['Dockerfile:1: the image a:1'],
  ],
  [
    'a base named by an argument',
    'x/Dockerfile.arm',
    '# one\nARG BASE="a:1"\nFROM ${BASE} AS b\n',
    ['x/Dockerfile.arm:3: the image a:1'],
  ],
  [
    'a base named by an argument without a default',
    'Dockerfile',
    'ARG BASE\nFROM $BASE\n',
    ['Dockerfile:2: the image $BASE'],
  ],
  [
    'a base with a digest cut off',
    'Dockerfile',
    `FROM a:1${digest.slice(0, -1)}\n`,
    ['Dockerfile:1: the image a:1@sha256'],
  ],
  [
    'an image that files are copied from',
    'b.dockerfile',
    `FROM a:1${digest}\nCOPY --from=b:2 /x /y\n`,
    ['b.dockerfile:2: the image b:2'],
  ],
  [
    'an image that a step mounts',
    'Dockerfile',
    'FROM scratch\nRUN \\\n  --mount=type=bind,from=b:2,target=/b true\n',
    ['Dockerfile:2: the image b:2'],
  ],
  [
    'a Dockerfile’s syntax',
    'Dockerfile',
    '# syntax=docker/dockerfile:1\nFROM scratch\n',
    ['Dockerfile:1: the image docker/dockerfile:1'],
  ],
  [
    'an image of Compose',
    'deploy/compose.yaml',
    'services:\n  web: {image: nginx}\n',
    ['deploy/compose.yaml:2: the image nginx has no digest'],
  ],
  [
    'an image of the second manifest',
    'deploy/a.yml',
    'kind: ConfigMap\n---\nspec:\n  containers:\n    - name: a\n      image: "a.example:5000/b:1"\n',
    ['deploy/a.yml:6: the image a.example:5000/b:1 has no digest'],
  ],
  ['an image volume', 'a.yaml', 'volumes: [{name: a, image: {reference: "a:1"}}]\n', ['a.yaml:1: the image a:1']],
  [
    'an image of Helm’s values',
    'v/values.yaml',
    'proxy:\n  image:\n    repository: envoy\n    tag: "1"\n',
    ['v/values.yaml:2: the image envoy:1'],
  ],
  [
    'an image in a template',
    'c/templates/a.yaml',
    '{{- if .x }}\n      - image: "busybox:1"\n{{- end }}\n',
    ['c/templates/a.yaml:2: the image busybox:1'],
  ],
  [
    'an image in a part of a template',
    'c/templates/_a.tpl',
    '  image: busybox\n',
    ['c/templates/_a.tpl:1: the image busybox'],
  ],
  [
    'the actions and images of a workflow',
    '.github/workflows/a.yaml',
    `jobs:
  one:
    container: node:24
    services: {db: {image: postgres:17}}
    steps:
      - uses: actions/checkout@v5
      - uses: docker://alpine:3
      - {uses: "a/b/c${commit.slice(0, -1)}"}
  two:
    container: {image: node:24}
  three: {uses: a/b/.github/workflows/c.yaml@main}
`,
    [
      '.github/workflows/a.yaml:3: the image node:24',
      '.github/workflows/a.yaml:4: the image postgres:17',
      '.github/workflows/a.yaml:6: the action actions/checkout@v5 has no commit',
      '.github/workflows/a.yaml:7: the action docker://alpine:3',
      '.github/workflows/a.yaml:8: the action a/b/c@',
      '.github/workflows/a.yaml:10: the image node:24',
      '.github/workflows/a.yaml:11: the action a/b/.github/workflows/c.yaml@main',
    ],
  ],
  [
    'an image of an action',
    '.github/actions/a/action.yml',
    'runs: {using: docker, image: "docker://a:1"}\n',
    ['action.yml:1: the image a:1'],
  ],
  [
    'an example of the documentation',
    'docs/a.md',
    '# A\n\n```yaml\na: 1\nimage: b:2\n```\n',
    ['docs/a.md:5: the image b:2'],
  ],
])('pins check refuses %s without a digest or commit', (_name, file, text, wanted) => {
  const found = checkPins(makeTree({ [file]: text }));
  expect(found).toEqual(wanted.map((each) => expect.stringContaining(each)));
});

test('pins check takes images that are pinned, built here, or named by a template', () => {
  const tree = makeTree({
    Dockerfile: `ARG BASE=a:1${digest}\nFROM \${BASE} AS Build\nFROM scratch\nCOPY --from=build /a /\nCOPY --from=0 /b /\nRUN --mount=type=cache,target=/c true\n`,
    '.github/workflows/a.yaml': `jobs: {a: {container: "a:1${digest}", steps: [{uses: a/b${commit}}, {uses: ./c}, {uses: "docker://a${digest}"}]}}\n`,
    'deploy/a.yaml': `spec: {containers: [{image: a${digest}}, {image: tailrace:0.1.0}, {image: "app:1.0.0"}]}\n`,
    'deploy/values.yaml': `image: {repository: tailrace, tag: ""}\nproxy: {image: {repository: a, tag: "1", digest: "${digest.slice(1)}"}}\n`,
    'deploy/templates/a.yaml': '{{ if .x }}\nimage: {{ include "image" . }}\n{{ end }}\n',
    'docs/a.md': 'image: b:2\n',
  });
  expect(checkPins(tree)).toEqual([]);
});
