# The agent alone: one executable, the C library that it needs, and certificate authorities. No shell, no package manager.
#
#   npm run package                  # makes the executable that goes in
#   docker build -t tailrace .
#   docker run --rm --read-only --cap-drop all -v ./tailrace.yaml:/etc/tailrace/tailrace.yaml:ro \
#     -v tailrace-state:/var/lib/tailrace -v /var/log:/var/log:ro -e TAILRACE_TOKEN tailrace
ARG BASE=debian:bookworm-20260918-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251

FROM ${BASE} AS build
# amd64 or arm64, set by the builder.
ARG TARGETARCH=amd64
RUN ldconfig -p | grep -q libatomic.so.1 && test -e /etc/ssl/certs/ca-certificates.crt \
  || (apt-get update -qq && apt-get install -y -qq --no-install-recommends libatomic1 libstdc++6 ca-certificates)
COPY dist/packages/tailrace-*-linux-* /packages/
RUN set -eu; \
  case "$TARGETARCH" in amd64) arch=x64 ;; *) arch=$TARGETARCH ;; esac; \
  install -D -m 755 /packages/tailrace-*-linux-"$arch" /image/usr/bin/tailrace; \
  for library in $(ldd /image/usr/bin/tailrace | grep -o '/[^ ]*'); do \
    install -D -m 755 "$library" "/image$library"; \
  done; \
  install -D -m 644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt; \
  printf 'tailrace:x:65532:65532::/var/lib/tailrace:/\n' >/image/etc/passwd; \
  printf 'tailrace:x:65532:\n' >/image/etc/group; \
  install -d -m 700 -o 65532 -g 65532 /image/var/lib/tailrace; \
  install -d -m 755 /image/etc/tailrace; \
  install -d -m 1777 /image/tmp

FROM scratch
COPY --from=build /image /
# Node looks for certificate authorities of the system here; malloc gives free memory back.
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
  STATE_DIRECTORY=/var/lib/tailrace \
  MALLOC_ARENA_MAX=2 \
  MALLOC_TRIM_THRESHOLD_=131072
USER 65532:65532
VOLUME /var/lib/tailrace
# /metrics, /healthz and /readyz; in a container: telemetry: {listen: 0.0.0.0:9600}
EXPOSE 9600
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["/usr/bin/tailrace", "status", "--health"]
ENTRYPOINT ["/usr/bin/tailrace"]
CMD ["run", "--config", "/etc/tailrace/tailrace.yaml"]
