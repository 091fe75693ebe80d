/** A menu that opens as soon as it is there, with its button in focus, so that Escape leads back to it. */
import { Menu } from '@mantine/core';
import { type ReactElement, type ReactNode, useEffect, useRef, useState } from 'react';

export interface OpenedMenuFrameProps {
  readonly target: ReactElement;
  readonly width: number;
  readonly children: ReactNode;
}

export function OpenedMenu({ target, width, children }: OpenedMenuFrameProps) {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    frame.current?.querySelector('button')?.focus();
    const opening = requestAnimationFrame(() => setOpen(true));
    return () => cancelAnimationFrame(opening);
  }, []);
  return (
    <Menu opened={isOpen} onChange={setOpen} position="bottom-end" width={width}>
      <span ref={frame} style={{ display: 'contents' }}>
        <Menu.Target>{target}</Menu.Target>
      </span>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
