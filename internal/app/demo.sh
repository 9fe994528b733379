# Landfall is running at {{.Base}} with a throw-away database.
# Ctrl-C here ends it and forgets everything.
# Open a second terminal and paste these lines, one after the other.

# 1. Swap the demo's API key for a token.
TOKEN=$(curl -sS {{.Base}}/v1/graphql/ -H 'Content-Type: application/json' -d '{"query":"mutation { obtainServiceToken(input: {apiKey: \"{{.Key}}\"}) { token expiresIn } }"}' | sed -n 's/.*"token": *"\([^"]*\)".*/\1/p'); echo "token: $TOKEN"

# 2. Check an account. Nothing is kept; 200 means it would be accepted.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/validate-account/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","customers":[{"given_name":"Ada","family_name":"Lovelace","landline":"020 7946 0018"}],"last_statement_closing_date":"2024-03-31","transfer_balance":-42.10,"supply_addresses":[{"supply_address1":"12 St James Square","supply_points":[{"identifier":"1012345678901","supply_type":"ELECTRICITY","supply_start_date":"2019-05-01","agreements":[{"product_code":"FLEX-24","effective_from":"2023-10-01"}]}]}]}'

# 3. Stage it: 201, and 200 when you send it again.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/account-import-process/create-or-update/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","customers":[{"given_name":"Ada","family_name":"Lovelace","landline":"020 7946 0018"}],"last_statement_closing_date":"2024-03-31","transfer_balance":-42.10,"supply_addresses":[{"supply_address1":"12 St James Square","supply_points":[{"identifier":"1012345678901","supply_type":"ELECTRICITY","supply_start_date":"2019-05-01","agreements":[{"product_code":"FLEX-24","effective_from":"2023-10-01"}]}]}]}'

# 4. Send one with mistakes: 400, with every mistake and its place.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/validate-account/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1002","customers":[{"landline":"12","shoe_size":43}]}'

# 5. Ask how account 1001 is doing: nobody has created it yet.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/account-transfer-status/{{.Supplier}}/1001/ -H "Authorization: Token $TOKEN"

# 6. Try to create it, for practice: 400 says that it would work and was rolled back.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/account-import-process/process/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier_code":"{{.Supplier}}","external_account_number":"1001","operations_team_name":"{{.Team}}","dry_run":true}'

# 7. Create it: 201, with the number of the new account.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/account-import-process/process/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier_code":"{{.Supplier}}","external_account_number":"1001","operations_team_name":"{{.Team}}"}'

# 8. Once more: 400, because there is exactly one account, with both its numbers.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/account-import-process/process/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier_code":"{{.Supplier}}","external_account_number":"1001","operations_team_name":"{{.Team}}"}'

# 9. Ask again: COMPLETED.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/account-transfer-status/{{.Supplier}}/1001/ -H "Authorization: Token $TOKEN"

# 10. Add a note. Sending it twice keeps it once; try it.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/notes/create/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","notes":[{"body":"Prefers letters to e-mail.","created_at":"2024-02-01T09:30:00Z","is_pinned":true}]}'

# 11. Add a payment and a charge. The charge lies before the open statement period, so it is moved and a pinned note says so.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/transactions/create/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","transactions":[{"transaction_id":"P-1","transaction_date":"2024-04-15","amount":50.00,"type":"PAYMENT","payment_type":"DIRECT_CREDIT"},{"transaction_id":"C-1","transaction_date":"2024-03-15","amount":7.50,"type":"CHARGE","reason":"IMPORTED_CHARGE"}]}'

# 12. Add an old bill.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/historical-statements/create/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","statements":[{"statement_id":"S-2024-03","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-03-31","issued_date":"2024-04-02","gross_amount":42.10,"statement_path":"bills/2024-03.pdf"}]}'

# 13. Add a payment instruction. The sandbox vendor knows every reference but those like NOT_FOUND.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/payment-instruction/create/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","vendor":"{{.Vendor}}","reference":"card-1001","type":"CARD"}'
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/payment-instruction/create/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","vendor":"{{.Vendor}}","reference":"NOT_FOUND-1","type":"CARD"}'

# 14. List all accounts, the pending ones, and the imported ones.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/all-account-import-processes/{{.Supplier}}/ -H "Authorization: Token $TOKEN"
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/pending-account-import-processes/{{.Supplier}}/ -H "Authorization: Token $TOKEN"
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/imported-account-import-processes/{{.Supplier}}/ -H "Authorization: Token $TOKEN"

# 15. Look at the account as the operator does; with --personal also at the people and the texts.
{{.Program}} account show {{.Supplier}} 1001 --database {{.Database}}

# The API reference is at {{.Base}}/docs/
