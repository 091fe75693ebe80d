/** Opens the command palette; its code is loaded separately. */

export const paletteEvent = 'envarium:palette';

export function openPalette(): void {
  dispatchEvent(new Event(paletteEvent));
}
