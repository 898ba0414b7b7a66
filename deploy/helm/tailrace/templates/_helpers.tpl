{{- define "tailrace.name" -}}
{{- if contains "tailrace" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-tailrace" (.Release.Name | trunc 41 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "tailrace.selector" -}}
app.kubernetes.io/name: tailrace
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tailrace.labels" -}}
{{ include "tailrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "tailrace.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* The environment of the agent, which `config` may name. */}}
{{- define "tailrace.env" -}}
- name: NODE_NAME
  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- name: TAILRACE_URL
  value: {{ .Values.url | quote }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* What the container may do, apart from its user and capabilities. */}}
{{- define "tailrace.confined" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "tailrace.liveness" -}}
httpGet: {path: /healthz, port: metrics}
periodSeconds: 30
timeoutSeconds: 10
failureThreshold: 5
{{- end }}

{{- define "tailrace.mounts" -}}
- {name: tailrace-config, mountPath: /etc/tailrace, readOnly: true}
- {name: tailrace-token, mountPath: /run/tailrace, readOnly: true}
- {name: tailrace-state, mountPath: /var/lib/tailrace}
{{- end }}

{{- define "tailrace.configVolumes" -}}
- name: tailrace-config
  configMap: {name: {{ include "tailrace.name" . }}}
- name: tailrace-token
  projected:
    defaultMode: 0440
    sources: [{secret: {name: {{ .Values.token.secretName }}, items: [{key: {{ .Values.token.key }}, path: token}]}}]
{{- end }}
