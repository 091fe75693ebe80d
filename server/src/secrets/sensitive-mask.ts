/** What readers get in place of a sensitive value; written back, it means "as it was". */
export const sensitiveMask = '********';
