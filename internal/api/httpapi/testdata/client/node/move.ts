// Moves an account with the client that openapi-typescript makes of the API
// description: node move.js SERVER API-KEY SUPPLIER EXTERNAL
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const [server, key, supplier, external] = process.argv.slice(2) as [string, string, string, string];
let token = "";
const client = createClient<paths>({ baseUrl: server });
client.use({
  onRequest({ request }) {
    if (token) request.headers.set("Authorization", `Token ${token}`);
    return request;
  },
});

function done<T>(step: string, result: { data?: T; error?: unknown; response: Response }): T {
  if (result.data === undefined) throw new Error(`${step}: ${result.response.status} ${JSON.stringify(result.error)}`);
  return result.data;
}

const granted = done("token", await client.POST("/v1/graphql/", {
  body: {
    query: "mutation($key: String) { obtainServiceToken(input: {apiKey: $key}) { token } }",
    variables: { key },
  },
}));
const data = granted.data?.["obtainServiceToken"] as { token: string };
token = data.token;

const today = new Date().toISOString().slice(0, 10);
const payment = (id: string, amount: components["schemas"]["Money"]): components["schemas"]["Transaction"] =>
  ({ transaction_id: id, transaction_date: today, type: "PAYMENT", amount });

done("staging", await client.POST("/v1/data-import/account-import-process/create-or-update/", {
  body: {
    import_supplier: supplier, external_account_number: external, customers: [{ family_name: "Example" }],
    transfer_balance: 1234567.89, current_statement_transactions: [payment("T-1", 1234567.89)],
  },
}));
done("creating", await client.POST("/v1/data-import/account-import-process/process/", {
  body: { import_supplier_code: supplier, external_account_number: external, operations_team_name: "Migration Team" },
}));
const status = done("status", await client.GET(
  "/v1/data-import/account-transfer-status/{import_supplier_code}/{external_account_number}/",
  { params: { path: { import_supplier_code: supplier, external_account_number: external } } },
));
if (status.status !== "COMPLETED") throw new Error(`the account is ${status.status}`);
const posted = done("posting", await client.POST("/v1/data-import/transactions/create/", {
  body: {
    import_supplier: supplier, external_account_number: external,
    transactions: [payment("T-2", 1234567.89), payment("T-3", "1234567.89")],
  },
}));
for (const result of posted.results) {
  const amount: unknown = result.transaction_data["amount"];
  if (amount !== "1234567.89") throw new Error(`1234567.89 came back as ${amount}`);
}
console.log(status.platform_account_number);
