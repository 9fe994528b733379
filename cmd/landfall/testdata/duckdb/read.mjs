// Prints what DuckDB reads from the Parquet files of an export, as JSON.
import { DuckDBInstance } from '@duckdb/node-api'

const folder = process.argv[2]
const connection = await (await DuckDBInstance.create(':memory:')).connect()
const rows = async query => (await connection.runAndReadAll(query)).getRowObjectsJson()
const file = table => `read_parquet('${folder}/${table}-*.parquet')`
console.log(JSON.stringify({
  accounts: await rows(`SELECT count(*)::VARCHAR AS rows, sum(balance)::VARCHAR AS balances, min(typeof(balance)) AS amount,
    min(typeof(created_at)) AS instant, min(typeof(open_period_from_date)) AS day FROM ${file('accounts')}`),
  ledger: await rows(`SELECT count(*)::VARCHAR AS rows, sum(amount)::VARCHAR AS balances FROM ${file('ledger')}`),
  readings: await rows(`SELECT count(*)::VARCHAR AS rows, sum(reading_value)::VARCHAR AS sum, min(typeof(reading_value)) AS type FROM ${file('transfer_readings')}`),
  orphans: await rows(`SELECT count(*)::VARCHAR AS rows FROM ${file('customers')} c ANTI JOIN ${file('accounts')} a USING (import_supplier, external_account_number)`),
  columns: await rows(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${file('accounts')}) LIMIT 4`),
  others: await rows(`SELECT count(*)::VARCHAR AS rows FROM ${file('other_values')}`)
}))
