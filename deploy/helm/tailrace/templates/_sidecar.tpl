{{/*
For the chart of an application that has this one as a dependency named "tailrace" (with daemonSet: false):

  initContainers:
    {{- include "tailrace.sidecar" (dict "root" .Subcharts.tailrace "volume" "logs" "path" "/logs") | nindent 4 }}
  volumes:
    {{- include "tailrace.sidecarVolumes" .Subcharts.tailrace | nindent 4 }}
    - {name: logs, emptyDir: {}}

The pod needs terminationGracePeriodSeconds: 45 and fsGroup: 65532, and `config` says `memory: small`.
*/}}
{{- define "tailrace.sidecar" -}}
- name: tailrace
  image: {{ include "tailrace.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  # A sidecar since Kubernetes 1.29: it starts before the application and stops after it.
  restartPolicy: Always
  env:
    {{- include "tailrace.env" .root | nindent 4 }}
  ports: [{name: metrics, containerPort: 9600}]
  livenessProbe:
    {{- include "tailrace.liveness" .root | nindent 4 }}
  resources:
    {{- toYaml .root.Values.sidecar.resources | nindent 4 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    capabilities: {drop: [ALL]}
    {{- include "tailrace.confined" .root | nindent 4 }}
  volumeMounts:
    {{- include "tailrace.mounts" .root | nindent 4 }}
    - {name: {{ .volume }}, mountPath: {{ .path }}, readOnly: true}
{{- end }}

{{- define "tailrace.sidecarVolumes" -}}
{{ include "tailrace.configVolumes" . }}
# Lives as long as the pod, as the logs do.
- {name: tailrace-state, emptyDir: {}}
{{- end }}
