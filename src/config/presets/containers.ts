/** Container runtimes: what their paths tell, and JSON in messages. */

export const containers: Readonly<Record<string, string>> = {
  // /var/log/pods/NAMESPACE_POD_UID/CONTAINER/N.log, and the links of /var/log/containers.
  kubernetes: String.raw`
format: cri
parse_json: true
path_fields:
  - '/(?<namespace>[^/_]+)_(?<pod>[^/_]+)_(?<uid>[^/_]+)/(?<container>[^/]+)/[^/]+$'
  - '/(?<pod>[^/_]+)_(?<namespace>[^/_]+)_(?<container>[^/]+)-(?<container_id>[0-9a-f]{64})\.log[^/]*$'
`,
  docker: String.raw`
format: docker
parse_json: true
path_fields: '/(?<container_id>[0-9a-f]{64})(?:-json\.log|/)'
`,
};
