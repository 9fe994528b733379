declare const process: { argv: string[]; env: Record<string, string | undefined> };
