interface McpApiHeader {
  kind: "mcp_api";
  scope: "root" | "server" | "tool";
  header: string;
  servers?: { identifier: string; serverName: string; toolCount: number }[];
  server?: { identifier: string; serverName: string };
  tools?: { method: string; path: string[]; mcpTool: string; operation: string; description: string }[];
  schemas?: Record<string, unknown>;
  note: string;
}

interface McpToolResult {
  content: unknown[];
  structuredContent?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

declare namespace MCP.docs {
  /** Return this TypeScript-style API header. */
  function $api(toolName?: string, options?: { schema?: boolean }): Promise<McpApiHeader>;

  namespace prompts {
    function get(
      input?: Record<string, never>
    ): Promise<McpToolResult>;

    function list(
      input?: Record<string, never>
    ): Promise<McpToolResult>;
  }

  namespace resources {
    function list(
      input?: Record<string, never>
    ): Promise<McpToolResult>;

    function read(
      input?: Record<string, never>
    ): Promise<McpToolResult>;
  }
}
