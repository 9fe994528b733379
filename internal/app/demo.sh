# Landfall is running at {{.Base}} with a throw-away database.
# Ctrl-C here ends it and forgets everything.
# Open a second terminal and paste these lines, one after the other.

# 1. Swap the demo's API key for a token.
TOKEN=$(curl -sS {{.Base}}/v1/graphql/ -H 'Content-Type: application/json' -d '{"query":"mutation { obtainServiceToken(input: {apiKey: \"{{.Key}}\"}) { token expiresIn } }"}' | sed -n 's/.*"token": *"\([^"]*\)".*/\1/p'); echo "token: $TOKEN"

# 2. Check an account. Nothing is kept; 200 means it would be accepted.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/validate-account/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","customers":[{"given_name":"Ada","family_name":"Lovelace","landline":"020 7946 0018"}]}'

# 3. Stage it: 201, and 200 when you send it again.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/account-import-process/create-or-update/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1001","customers":[{"given_name":"Ada","family_name":"Lovelace","landline":"020 7946 0018"}]}'

# 4. Send one with mistakes: 400, with every mistake and its place.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/validate-account/ -H "Authorization: Token $TOKEN" -H 'Content-Type: application/json' -d '{"import_supplier":"{{.Supplier}}","external_account_number":"1002","customers":[{"landline":"12","shoe_size":43}]}'

# 5. Ask how account 1001 is doing.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/account-transfer-status/{{.Supplier}}/1001/ -H "Authorization: Token $TOKEN"

# 6. List all accounts, the pending ones, and the imported ones.
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/all-account-import-processes/{{.Supplier}}/ -H "Authorization: Token $TOKEN"
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/pending-account-import-processes/{{.Supplier}}/ -H "Authorization: Token $TOKEN"
curl -sS -w ' [%{http_code}]\n' {{.Base}}/v1/data-import/imported-account-import-processes/{{.Supplier}}/ -H "Authorization: Token $TOKEN"

# 7. Look at the account as the operator does, with its history.
{{.Program}} account show {{.Supplier}} 1001 --database {{.Database}}

# The API reference is at {{.Base}}/docs/
