// Host API calls that submit kernels: what `--what-if launch=CHANGE` means. The list is that of
// src/trace/api_calls.cpp (CallKind::launch); launch-calls.test.ts compares the two.

/** Their names, without the per-thread-stream ending "_spt". */
export const LAUNCH_CALLS: ReadonlySet<string> = new Set([
  'hipExtLaunchKernel',
  'hipExtLaunchMultiKernelMultiDevice',
  'hipExtModuleLaunchKernel',
  'hipGraphLaunch',
  'hipHccModuleLaunchKernel',
  'hipLaunchByPtr',
  'hipLaunchCooperativeKernel',
  'hipLaunchCooperativeKernelMultiDevice',
  'hipLaunchKernel',
  'hipLaunchKernelExC',
  'hipModuleLaunchCooperativeKernel',
  'hipModuleLaunchKernel',
]);

/** Whether the call of that name submits kernels. */
export function isLaunchCall(name: string): boolean {
  return LAUNCH_CALLS.has(name.endsWith('_spt') ? name.slice(0, -4) : name);
}
