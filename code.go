package landfall

// The stable codes a machine may act on. The catalogue in package contract
// explains each one; a test keeps the two in step.
const (
	CodeInternalError           = "internal_error"
	CodeServiceUnavailable      = "service_unavailable"
	CodeNotAuthenticated        = "not_authenticated"
	CodeAuthenticationFailed    = "authentication_failed"
	CodePermissionDenied        = "permission_denied"
	CodeNotFound                = "not_found"
	CodeMethodNotAllowed        = "method_not_allowed"
	CodePayloadTooLarge         = "payload_too_large"
	CodeUnsupportedMedia        = "unsupported_media_type"
	CodeTooManyRequests         = "too_many_requests"
	CodeHeaderTooLarge          = "request_header_fields_too_large"
	CodeValidationFailed        = "validation_failed"
	CodeAccountFailedValidation = "account_failed_validation"

	CodeSupplierUnknown       = "import_supplier_does_not_exist"
	CodeSupplierNotOngoing    = "import_supplier_migration_not_ongoing"
	CodeProcessUnknown        = "import_process_does_not_exist"
	CodeAlreadyImported       = "account_already_imported"
	CodeMarkedAsSkipped       = "account_marked_as_skipped"
	CodeImportInProgress      = "account_import_in_progress"
	CodeTeamUnknown           = "operations_team_does_not_exist"
	CodeDryRunRolledBack      = "dry_run_rolled_back"
	CodeConcurrencyLimit      = "concurrency_limit_exceeded"
	CodeDuplicateTransactions = "duplicate_transaction_ids"
	CodeOutsideOpenPeriod     = "transaction_outside_open_statement_period"
	CodeStatementExists       = "historical_statement_already_exists"
	CodeAccountNotFound       = "account_not_found"
	CodeNoControlTotals       = "control_totals_not_set"
	CodeWindowOver            = "window_over"
	CodeHasPostings           = "has_postings"
	CodeCustomersTold         = "customers_were_told"
	CodeErased                = "account_erased"
	CodeEventCursorUnknown    = "event_cursor_unknown"
	CodeEventCursorTooOld     = "event_cursor_too_old"

	CodeRunActive   = "run_already_active"
	CodeRunNotFound = "run_not_found"
	CodeRunEnded    = "run_already_ended"
)
