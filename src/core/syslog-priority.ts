/** The names of syslog facilities and severities, in the order of their codes: a priority is `8 * facility + severity`. */
export const FACILITIES: readonly string[] =
  'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7'.split(
    ' ',
  );
export const SEVERITIES: readonly string[] = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'];
