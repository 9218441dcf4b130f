import { Component, type ComponentChildren } from "preact";
import { type Reader, ReaderContext } from "../words/reader.ts";

interface Props {
  readonly children: ComponentChildren;
}

/**
 * Conversations outlive versions: a card that this page can not draw must not take the others with it. The console
 * says why.
 */
export class CardBoundary extends Component<Props, { readonly broken: boolean }> {
  static override contextType = ReaderContext;
  override state = { broken: false };

  static override getDerivedStateFromError(): { readonly broken: boolean } {
    return { broken: true };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    if (!this.state.broken) return this.props.children;
    const reader: Reader = this.context;
    return <p class="notice">{reader.words.card.notShown}</p>;
  }
}
