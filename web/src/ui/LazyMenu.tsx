/** A menu whose code is loaded on first use: menus are the largest part of what is not shown. */
import {
  type ComponentType,
  type LazyExoticComponent,
  lazy,
  type ReactElement,
  Suspense,
  startTransition,
  useState,
} from 'react';

/** Properties that the button of a menu has to hand on to its element. */
export interface TargetProps {
  readonly onClick?: () => void;
  readonly onPointerEnter?: () => void;
  readonly onFocus?: () => void;
  readonly 'aria-haspopup'?: 'menu';
  readonly 'aria-expanded'?: boolean;
}

/** A menu that is there as soon as it is loaded: it opens at once. */
export interface OpenedMenuProps<Content> {
  readonly target: ReactElement;
  readonly content: Content;
}

type MenuComponent<Content> = ComponentType<OpenedMenuProps<Content>>;

export interface LoadedMenu<Content> {
  readonly load: () => Promise<{ default: MenuComponent<Content> }>;
  readonly Menu: LazyExoticComponent<MenuComponent<Content>>;
}

/** @param load imports the module of the menu; where that fails, its button stays a button */
export function lazyMenu<Content>(
  load: () => Promise<{ default: MenuComponent<Content> }>,
): LoadedMenu<Content> {
  const safely = () => load().catch(() => ({ default: ({ target }: OpenedMenuProps<Content>) => target }));
  return { load: safely, Menu: lazy(safely) };
}

export interface LazyMenuProps<Content> {
  readonly menu: LoadedMenu<Content>;
  readonly content: Content;
  readonly button: (props: TargetProps) => ReactElement;
}

export function LazyMenu<Content>({ menu: { load, Menu }, content, button }: LazyMenuProps<Content>) {
  const [isWanted, setWanted] = useState(false);
  const preload = () => void load();
  const closed = button({
    // A transition, so that the button stays, with its focus, until the menu is loaded.
    onClick: () => startTransition(() => setWanted(true)),
    onPointerEnter: preload,
    onFocus: preload,
    'aria-haspopup': 'menu',
    'aria-expanded': false,
  });
  return (
    <Suspense fallback={closed}>
      {isWanted ? <Menu target={button({})} content={content} /> : closed}
    </Suspense>
  );
}
