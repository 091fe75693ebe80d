/** What readers get in place of a sensitive value; sent back, it means "unchanged". */
export const sensitiveMask = '********';
