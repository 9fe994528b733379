package contract

import "landfall/internal/api/rules"

var addressLine = rules.Text(512)

// addressTable is the structured form of an address. Accounts and supply
// addresses also accept a free form of five lines and a postcode.
var addressTable = rules.NewTable("Address", "A structured postal address.",
	rules.Required("country", countryText, "ISO 3166-1 alpha-2 code."),
	rules.Optional("name", addressLine, "Name of the recipient."),
	rules.Optional("organization", addressLine, "Name of the organisation."),
	rules.Optional("street_address", rules.Text(512), "Street and house number. May contain several lines."),
	rules.Optional("dependent_locality", addressLine, "District or village."),
	rules.Optional("locality", addressLine, "Town or city."),
	rules.Optional("administrative_area", addressLine, "County, state or province."),
	rules.Optional("postal_code", rules.Line(16), "Postal code. Its format is checked if the country is GB."),
	rules.Optional("sorting_code", rules.Line(16), "Sorting code, in countries that have one."),
	rules.Optional("delivery_point_identifier", rules.Line(32), "The postal service's identifier of the delivery point."),
)

// supplyAddressTable and the tables below it are nested: address, supply point,
// meter, register, reading.
var supplyAddressTable = rules.NewTable("SupplyAddress", "A supplied property.",
	rules.Optional("supply_address1", addressLine, "Line 1 of the address (free form)."),
	rules.Optional("supply_address2", addressLine, "Line 2 of the address."),
	rules.Optional("supply_address3", addressLine, "Line 3 of the address."),
	rules.Optional("supply_address4", addressLine, "Line 4 of the address."),
	rules.Optional("supply_address5", addressLine, "Line 5 of the address."),
	rules.Optional("supply_postcode", rules.Line(16), "Postcode of the address (free form)."),
	rules.Optional("supply_address", rules.Object(addressTable), "Structured address. Use it instead of the five lines and the postcode."),
	rules.Optional("property_external_identifier", rules.Line(128), "Identifier of the property in the source system."),
	rules.Optional("customer_at_supply_address_from_date", rules.Date(), "Date the customer moved in."),
	rules.Optional("supply_points", rules.List(0, maxSupplyPoints, rules.Object(supplyPointTable)), "Supply points of the property."),
)

var supplyPointTable = rules.NewTable("SupplyPoint", "A point at which a product is supplied to a property.",
	rules.Required("identifier", rules.NonEmpty(64), "Market identifier of the supply point, unique per account and supply type."),
	rules.Required("supply_type", codeText, "What is supplied, such as ELECTRICITY, GAS, WATER or BROADBAND."),
	rules.Required("supply_start_date", rules.Date(), "First day of supply."),
	rules.Optional("supply_end_date", rules.Date(), "Last day of supply."),
	rules.Optional("last_billed_to_date", rules.Date(), "Last day billed for this supply point, inclusive."),
	rules.Optional("agreements", rules.List(0, maxAgreements, rules.Object(agreementTable)), "Current and past agreements."),
	rules.Optional("meters", rules.List(0, maxMeters, rules.Object(meterTable)), "Meters at the supply point."),
)

// agreementTable has an exclusive end, so that the next agreement starts on that
// day.
var agreementTable = rules.NewTable("Agreement", "The product a supply point is on during a period.",
	rules.Required("product_code", codeText, "Code of the product."),
	rules.Required("effective_from", rules.Date(), "First day of the agreement."),
	rules.Optional("effective_to", rules.Date(), "Day after the last day of the agreement. Leave it out if the agreement has no end."),
	rules.Optional("agreed_at", rules.Datetime(), "When the customer agreed."),
)

var meterTable = rules.NewTable("Meter", "A meter at a supply point.",
	rules.Required("serial_number", rules.NonEmpty(64), "Serial number of the meter."),
	rules.Optional("installed_on", rules.Date(), "Date of installation."),
	rules.Optional("removed_on", rules.Date(), "Date of removal."),
	rules.Optional("registers", rules.List(0, maxRegisters, rules.Object(registerTable)), "Registers of the meter."),
)

var registerTable = rules.NewTable("Register", "A register of a meter.",
	rules.Required("register_id", rules.NonEmpty(32), "Identifier of the register on the meter."),
	rules.Optional("number_of_digits", rules.Integer(1, 15), "Number of digits the register displays."),
	rules.Optional("transfer_readings", rules.List(0, maxReadings, rules.Object(readingTable)), "Readings taken for the transfer."),
)

var readingTable = rules.NewTable("Reading", "A reading of a register.",
	rules.Required("reading_date", rules.Date(), "Date of the reading."),
	rules.Required("reading_type", rules.Choice("CUSTOMER", "ESTIMATE", "ROUTINE", "SMART", "REGULAR"), "How the reading was obtained."),
	rules.Required("reading_value", rules.Decimal(), "Value of the reading."),
)
