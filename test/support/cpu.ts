/**
 * What work costs, whoever else uses the machine meanwhile: for tests that a hostile text can not make something slow. How
 * fast things are is for bench/; here only orders of magnitude count.
 */

/** @returns milliseconds of processor time */
export function cpuMs(work: () => void): number {
  const since = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}
