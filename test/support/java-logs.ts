/** Real log4j and logback, from Debian's packages: a BeanShell script logs through them, as a program would. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './installed.ts';

const jarOf = (name: string): string => `/usr/share/java/${name}.jar`;
const LIBRARIES = {
  log4j: ['bsh', 'log4j-api', 'log4j-core'],
  logback: ['bsh', 'slf4j-api', 'logback-classic', 'logback-core'],
} as const;

export const hasJavaLoggers =
  findProgram('java') !== undefined &&
  Object.values(LIBRARIES)
    .flat()
    .every((name) => existsSync(jarOf(name)));
export const JAVA_PACKAGES = 'default-jre-headless libbsh-java liblog4j2-java liblogback-java';

const LOG4J = `status = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = \${sys:log.file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d [%t] %-5level %logger{36} - %msg%n
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
`;
const LOGBACK = `<configuration>
  <appender name="file" class="ch.qos.logback.core.FileAppender">
    <file>\${log.file}</file>
    <encoder><pattern>%d{yyyy-MM-dd HH:mm:ss.SSS} [%thread] %-5level %logger{36} - %msg%n</pattern></encoder>
  </appender>
  <root level="info"><appender-ref ref="file"/></root>
</configuration>
`;
const SCRIPT = `log.info("started");
log.debug("not shown");
try { new java.util.ArrayList().iterator().next(); }
catch (Exception e) { log.error("it broke", new IllegalStateException("no", e)); }
`;

/** Lets the logger write an INFO line and an ERROR with its stack trace and cause, in local time of `zone`. */
export function writeJavaLog(
  logger: keyof typeof LIBRARIES,
  { folder, log, zone }: { folder: string; log: string; zone: string },
): void {
  const [config, script] = [
    join(folder, `${logger}.${logger === 'log4j' ? 'properties' : 'xml'}`),
    join(folder, `${logger}.bsh`),
  ];
  writeFileSync(config, logger === 'log4j' ? LOG4J : LOGBACK);
  const factory = logger === 'log4j' ? 'org.apache.logging.log4j.LogManager' : 'org.slf4j.LoggerFactory';
  writeFileSync(script, `log = ${factory}.getLogger("com.example.App");\n${SCRIPT}`);
  const property = logger === 'log4j' ? 'log4j2.configurationFile' : 'logback.configurationFile';
  const options = [
    `-Duser.timezone=${zone}`,
    `-Dlog.file=${log}`,
    `-D${property}=${config}`,
    '-Xshare:auto',
    '-XX:TieredStopAtLevel=1',
  ];
  const classes = LIBRARIES[logger].map(jarOf).join(':');
  execFileSync(findProgram('java')!, [...options, '-cp', classes, 'bsh.Interpreter', script], {
    stdio: 'pipe',
    timeout: 120_000,
  });
}
