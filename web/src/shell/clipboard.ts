/** Copying where the page came over plain http: browsers then offer pages no clipboard of their own. */

function copyText(text: string): Promise<void> {
  const field = document.createElement('textarea');
  field.value = text;
  // A dialog keeps the focus within itself.
  (document.activeElement?.parentElement ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied ? Promise.resolve() : Promise.reject(new Error('The browser refuses to copy'));
}

/** Gives pages over plain http what buttons that copy expect. */
export function ensureClipboard(): void {
  if ('clipboard' in navigator) return;
  Object.defineProperty(navigator, 'clipboard', { value: { writeText: copyText } });
}
