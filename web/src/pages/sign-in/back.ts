/** Target of a sign-in. */

/** Only addresses of this interface lead back. @param back as the address says it */
export function backOf(back: string | undefined): string {
  return back?.startsWith('/') && !/^\/[/\\]/.test(back) ? back : '/';
}

/** Whether an address leads to a program on this computer: the only ones that a command line listens on. */
export function isLoopback(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && ['127.0.0.1', '[::1]'].includes(url.hostname);
}
