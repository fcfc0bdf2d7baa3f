-- What an answer with tools consists of: calls, results and reasoning, each with the model that made it. The next question
-- is asked with them. JSON as text: it is read whole, by its message, and never searched.
alter table chat_messages add column steps text;
