package contract

import "landfall/internal/api/rules"

// customerTable requires nothing: an old system may know no more of a customer
// than that there is one.
var customerTable = rules.NewTable("Customer", "A person or business of an account.",
	rules.Optional("given_name", rules.Text(255), "First name or names."),
	rules.Optional("family_name", rules.Text(255), "Family name."),
	rules.Optional("title", rules.Text(20), "Title, such as Ms or Dr."),
	rules.Optional("salutation", rules.Text(128), "How the customer is addressed in a letter."),
	rules.Optional("email", optionalEmailText, "The customer's e-mail address."),
	rules.Optional("contact_emails", rules.List(0, maxContacts, emailText), "Further e-mail addresses."),
	rules.Optional("mobile", phoneText, "Mobile number; an empty text means none."),
	rules.Optional("landline", phoneText, "Landline number; an empty text means none."),
	rules.Optional("alternative_phone_numbers", rules.List(0, maxContacts, rules.Object(alternativePhoneTable)), "Further phone numbers."),
	rules.Optional("date_of_birth", rules.Date(), "Date of birth; not in the future."),
	rules.Optional("deceased", rules.OrEmpty(rules.Choice("Reported", "Confirmed")), "Whether the customer's death was reported or confirmed."),
	rules.Optional("role", codeText, "The customer's role on the account."),
	rules.Optional("label", rules.Text(255), "A name support gives the customer."),
	rules.Optional("user_identifier", rules.Line(128), "The customer's identifier in the other supplier's system."),
	rules.Optional("customer_preferences", rules.Object(preferencesTable), "What the customer wants to hear about."),
	rules.Optional("consents", rules.List(0, maxConsents, rules.Object(consentTable)), "What the customer agreed to."),
	rules.Optional("metadata", metadataList, "Anything else worth keeping, untouched."),
)

// A phone number is an object of its own, as the interface has always had it.
var alternativePhoneTable = rules.NewTable("AlternativePhone", "A further phone number of a customer.",
	rules.Required("phone_number", phoneText, "The number; an empty text means none."),
)

var preferencesTable = rules.NewTable("CustomerPreferences", "What a customer wants to hear about.",
	rules.Optional("opted_into_sms", rules.Boolean(), "Text messages."),
	rules.Optional("opted_into_offers", rules.Boolean(), "Offers."),
	rules.Optional("opted_into_recommended", rules.Boolean(), "Recommendations."),
	rules.Optional("opted_into_updates", rules.Boolean(), "News."),
	rules.Optional("opted_into_third_parties", rules.Boolean(), "Messages of third parties."),
)

// consentTable is shared by accounts and customers.
var consentTable = rules.NewTable("Consent", "What somebody agreed to, or did not.",
	rules.Required("type", codeText, "What the consent is about; once per list."),
	rules.Required("value", rules.Choice("ACCEPTED", "REJECTED", "UNKNOWN", "PENDING"), "What was answered."),
	rules.Optional("signed_at", rules.Datetime(), "When it was answered; not in the future."),
	rules.Optional("description", rules.Text(255), "A remark on the consent."),
)
