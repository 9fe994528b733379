package contract

import (
	"landfall"
	"landfall/internal/api/rules"
)

// Maximum length of lists. The first four are published limits of the service.
// The others keep documents reasonable; the field tables of the documentation
// show them.
const (
	maxCustomers    = 100
	maxNotes        = 1_000
	maxTransactions = 10_000
	maxStatements   = 10_000

	maxSupplyAddresses  = 500
	maxSupplyPoints     = 100
	maxAgreements       = 200
	maxMeters           = 100
	maxRegisters        = 50
	maxReadings         = 1_000
	maxInstructions     = 100
	maxPaymentSchedules = 100
	maxReferences       = 100
	maxConsents         = 100
	maxMetadata         = 1_000
	maxContacts         = 100
	maxDocumentPaths    = 100
	maxLineItems        = 1_000
	maxTaxItems         = 100
	maxUnits            = 100
)

// maxViolations is how many violations a response lists. If there are more,
// tooManyErrors follows.
const maxViolations = 100

var tooManyErrors = landfall.Violation{Code: rules.CodeTooManyErrors, Detail: rules.DetailTooMany}

// Maximum length of strings that are not plain names.
const (
	maxProse       = 20_000
	maxPathBytes   = 1_024
	maxCode        = 64
	maxExternal    = 128
	maxSupplier    = 32
	maxEmail       = 254
	maxPhone       = 32
	maxLanguageTag = 35
	maxTeamName    = 255
)
