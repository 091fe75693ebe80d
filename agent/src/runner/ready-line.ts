/** The line that a runner prints when it is ready for another order. */
export const readyLine = 'ready';
