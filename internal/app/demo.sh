echo "1. Exchange the API key of the demo for a token."
TOKEN=$(curl -sS {{.Base}}/v1/graphql/ -H 'Content-Type: application/json' -d '{"query":"mutation { obtainServiceToken(input: {apiKey: \"{{.Key}}\"}) { token expiresIn } }"}' | sed -n 's/.*"token": *"\([^"]*\)".*/\1/p'); echo "token: $TOKEN"

echo "2. Define a function that calls the API."
api() { call=$1; shift; curl -sS -w ' [%{http_code}]\n' "{{.Base}}/v1/data-import/$call" -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' "$@"; }

echo "3. Validate an account. Nothing is stored; 200 means that it would be accepted."
api validate-account/ -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","customers":[{"given_name":"Ada","family_name":"Lovelace","landline":"020 7946 0018"}],"last_statement_closing_date":"2024-03-31","transfer_balance":-42.10}'

echo "4. Validate one with errors: 400, with every error and its location."
api validate-account/ -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1002","customers":[{"landline":"12","shoe_size":43}]}'

echo "5. Stage an account: 201, or 200 if you send it again."
api account-import-process/create-or-update/ -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","customers":[{"given_name":"Ada","family_name":"Lovelace","landline":"020 7946 0018"}],"last_statement_closing_date":"2024-03-31","transfer_balance":-42.10,"supply_addresses":[{"supply_address1":"12 St James Square","supply_points":[{"identifier":"1012345678901","supply_type":"ELECTRICITY","supply_start_date":"2019-05-01","agreements":[{"product_code":"FLEX-24","effective_from":"2023-10-01"}]}]}]}'

echo "6. Get its status: it is not created yet."
api account-transfer-status/{{.Supplier}}/1001/

echo "7. Create it as a dry run: 400 says that it would succeed and was rolled back."
api account-import-process/process/ -d '{"import_supplier_code":"{{.Supplier}}","external_account_number":"1001","operations_team_name":"{{.Team}}","dry_run":true}'

echo "8. Create it: 201, with the number of the new account."
api account-import-process/process/ -d '{"import_supplier_code":"{{.Supplier}}","external_account_number":"1001","operations_team_name":"{{.Team}}"}'

echo "9. Create it again: 400, because the account exists already."
api account-import-process/process/ -d '{"import_supplier_code":"{{.Supplier}}","external_account_number":"1001","operations_team_name":"{{.Team}}"}'

echo "10. Get its status again: COMPLETED."
api account-transfer-status/{{.Supplier}}/1001/

echo "11. Add a note. If you send it twice, it is stored once."
api notes/create/ -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","notes":[{"body":"Prefers letters to e-mail.","created_at":"2024-02-01T09:30:00Z","is_pinned":true}]}'

echo "12. Add a payment and a charge. The charge is before the open statement period, so its date is moved and a pinned note says so."
api transactions/create/ -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","transactions":[{"transaction_id":"P-1","transaction_date":"2024-04-15","amount":50.00,"type":"PAYMENT","payment_type":"DIRECT_CREDIT"},{"transaction_id":"C-1","transaction_date":"2024-03-15","amount":7.50,"type":"CHARGE","reason":"IMPORTED_CHARGE"}]}'

echo "13. Add an old bill."
api historical-statements/create/ -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","statements":[{"statement_id":"S-2024-03","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-03-31","issued_date":"2024-04-02","gross_amount":42.10,"statement_path":"bills/2024-03.pdf"}]}'

echo "14. Add a payment instruction. The sandbox vendor accepts every reference except some, such as NOT_FOUND."
api payment-instruction/create/ -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","vendor":"{{.Vendor}}","reference":"card-1001","type":"CARD"}'
api payment-instruction/create/ -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","vendor":"{{.Vendor}}","reference":"NOT_FOUND-1","type":"CARD"}'

echo "15. List up to three accounts: all, pending and imported."
api all-account-import-processes/{{.Supplier}}/?limit=3
api pending-account-import-processes/{{.Supplier}}/?limit=3
api imported-account-import-processes/{{.Supplier}}/?limit=3

echo "16. Show the account on the command line. Add --personal to show personal data."
{{.Program}} account show {{.Supplier}} 1001 --database {{.Database}}

echo "The API reference is at {{.Base}}/docs/"
