package contract

import "landfall/internal/api/rules"

var addressLine = rules.Text(512)

// addressTable is the structured style of an address; accounts and supply
// addresses also have a free style of five lines and a postcode.
var addressTable = rules.NewTable("Address", "A structured postal address.",
	rules.Required("country", countryText, "ISO 3166-1 alpha-2 code."),
	rules.Optional("name", addressLine, "Who lives there."),
	rules.Optional("organization", addressLine, "Which organisation is there."),
	rules.Optional("street_address", rules.Text(512), "Street and house number, on several lines if need be."),
	rules.Optional("dependent_locality", addressLine, "District or village."),
	rules.Optional("locality", addressLine, "Town or city."),
	rules.Optional("administrative_area", addressLine, "County, state or province."),
	rules.Optional("postal_code", rules.Line(16), "Postal code; checked when the country is GB."),
	rules.Optional("sorting_code", rules.Line(16), "Sorting code, where the country has one."),
	rules.Optional("delivery_point_identifier", rules.Line(32), "The post's identifier of the delivery point."),
)

// supplyAddressTable and the tables below it follow the way of a product into
// a house: place, supply point, meter, register, reading.
var supplyAddressTable = rules.NewTable("SupplyAddress", "A place that is supplied.",
	rules.Optional("supply_address1", addressLine, "First line of the address, free style."),
	rules.Optional("supply_address2", addressLine, "Second line of the address."),
	rules.Optional("supply_address3", addressLine, "Third line of the address."),
	rules.Optional("supply_address4", addressLine, "Fourth line of the address."),
	rules.Optional("supply_address5", addressLine, "Fifth line of the address."),
	rules.Optional("supply_postcode", rules.Line(16), "Postcode of the address, free style."),
	rules.Optional("supply_address", rules.Object(addressTable), "The address, structured; instead of the five lines and the postcode."),
	rules.Optional("property_external_identifier", rules.Line(128), "The property's identifier in the other supplier's system."),
	rules.Optional("customer_at_supply_address_from_date", rules.Date(), "Since when the customer lives there."),
	rules.Optional("supply_points", rules.List(0, maxSupplyPoints, rules.Object(supplyPointTable)), "Where products enter the place."),
)

var supplyPointTable = rules.NewTable("SupplyPoint", "Where a product enters a place.",
	rules.Required("identifier", rules.NonEmpty(64), "The market's identifier of the supply point; once per account and supply type."),
	rules.Required("supply_type", codeText, "What is supplied: ELECTRICITY, GAS, WATER, BROADBAND and so on."),
	rules.Required("supply_start_date", rules.Date(), "First day of supply."),
	rules.Optional("supply_end_date", rules.Date(), "Last day of supply."),
	rules.Optional("last_billed_to_date", rules.Date(), "The last day billed for this supply point, inclusive."),
	rules.Optional("agreements", rules.List(0, maxAgreements, rules.Object(agreementTable)), "Which products the supply point is and was on."),
	rules.Optional("meters", rules.List(0, maxMeters, rules.Object(meterTable)), "The meters of the supply point."),
)

// An agreement's end is exclusive, so that the next one begins on that day.
var agreementTable = rules.NewTable("Agreement", "Which product a supply point is on, and when.",
	rules.Required("product_code", codeText, "The product."),
	rules.Required("effective_from", rules.Date(), "First day of the agreement."),
	rules.Optional("effective_to", rules.Date(), "Day after the last day of the agreement; open when left out."),
	rules.Optional("agreed_at", rules.Datetime(), "When the customer agreed."),
)

var meterTable = rules.NewTable("Meter", "A meter of a supply point.",
	rules.Required("serial_number", rules.NonEmpty(64), "The number on the meter."),
	rules.Optional("installed_on", rules.Date(), "When it was installed."),
	rules.Optional("removed_on", rules.Date(), "When it was removed."),
	rules.Optional("registers", rules.List(0, maxRegisters, rules.Object(registerTable)), "The counters of the meter."),
)

var registerTable = rules.NewTable("Register", "One counter of a meter.",
	rules.Required("register_id", rules.NonEmpty(32), "The counter's identifier on the meter."),
	rules.Optional("number_of_digits", rules.Integer(1, 15), "How many digits the counter shows."),
	rules.Optional("transfer_readings", rules.List(0, maxReadings, rules.Object(readingTable)), "Readings taken for the transfer."),
)

var readingTable = rules.NewTable("Reading", "A value read from a register.",
	rules.Required("reading_date", rules.Date(), "When it was read."),
	rules.Required("reading_type", rules.Choice("CUSTOMER", "ESTIMATE", "ROUTINE", "SMART", "REGULAR"), "How it was come by."),
	rules.Required("reading_value", rules.Decimal(), "The value."),
)
