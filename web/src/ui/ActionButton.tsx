/** A button that says why it cannot be used, instead of vanishing. */
import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

export interface ActionButtonProps extends ButtonProps {
  readonly children: ReactNode;
  readonly onClick?: () => void;
  readonly type?: 'button' | 'submit';
  /** Why it cannot be used, as a sentence; undefined: it can. */
  readonly whyNot?: string | undefined;
  readonly id?: string;
}

/**
 * The button stays reachable by keyboard where it is refused, so that its reason can be read. It is the same element
 * before and after the rights are known: it keeps the focus.
 */
export function ActionButton({ whyNot, onClick, children, type = 'button', ...props }: ActionButtonProps) {
  const isRefused = whyNot !== undefined;
  return (
    <Tooltip label={whyNot} disabled={!isRefused} events={{ hover: true, focus: true, touch: true }}>
      <Button
        {...props}
        type={isRefused ? 'button' : type}
        {...(isRefused ? { 'data-disabled': true, 'aria-disabled': true } : {})}
        onClick={isRefused ? (event) => event.preventDefault() : onClick}
      >
        {children}
      </Button>
    </Tooltip>
  );
}
